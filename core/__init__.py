"""The vocabulary of MEMENTO: values, orders, facts, ports and errors. Imports only itself."""
