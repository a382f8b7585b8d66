"""Made-up tile sets: 42 faces drawn from chance and fonts, for a reader that knows no set by heart.

:func:`vision.training.faces.sets.random_set` draws one. What is varied is what real sets differ by:
lettering (brush, kai, song, hei; traditional or simplified), circles and bamboos (shape, colour,
every usual layout), the bird, blank or framed Whites, corner indices, and flowers of which only the
character, the numeral and the ink say which one it is.
"""
