"""What becomes of a repository, as a page and as Markdown: shares, reasons, files, and NumPy's names.

Imports the project, configuration and rules. What the command line prints, and what runs programs, stays out.

survey.py      what the files of a repository are, and what becomes of them: data
tables.py      the survey as rows of tables
charts.py      shares and bars as SVG
page.py        the HTML page, from page.html.jinja, page.css and page.js
markdown.py    the same in brief, for pull requests
"""
