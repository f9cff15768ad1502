BY_HAND = {}
