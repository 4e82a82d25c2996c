BwzJ
