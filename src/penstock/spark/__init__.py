"""The only package that talks to Spark. Importing it alone does not load pyspark."""
