"""The prompt files, one Markdown file each; `runtime.prompts` reads and fills them."""
