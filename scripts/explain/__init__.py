"""Explains a schedule: from the record of a run (option record_path) to text and an HTML page."""
