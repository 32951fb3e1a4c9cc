"""Patches of programs: what a reply changes of its parent, merged into the rest of it. Pure; no program is run here.

    patch_form        whether a block of code is a whole program or a patch of its parent
    patch_order       where each new definition of a patch stands among those of its parent
    patch_statements  what single statements of a patch and of its parent are: imports, constants, placeholders
    patch_text        the text of a merge: which characters of the parent a definition of the patch replaces
    patches           patches: the definitions of a program that change, merged into the rest of it
    pieces            blocks of one reply that are one program together
"""
