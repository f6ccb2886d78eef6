"""From the elements of a query's result to what people read: content, changes, rows sent out."""
