"""The words of MEMENTO: values, orders, facts, ports and errors. Imports nothing above itself."""
