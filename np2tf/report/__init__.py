"""The report on a repository, as a page and as Markdown: shares, reasons, files, and NumPy's names.

Imports the project, configuration and rules. Output of the command line, and running programs, stay out.

survey.py      the files of a repository and their translation, as data
tables.py      the survey as rows of tables
charts.py      shares and bars as SVG
page.py        the HTML page, from page.html.jinja, page.css and page.js
markdown.py    the same in brief, for pull requests
"""
