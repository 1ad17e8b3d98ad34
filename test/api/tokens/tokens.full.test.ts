// tokens.test.ts in its whole breadth.
import './tokens.test.ts'
