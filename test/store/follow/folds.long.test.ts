// folds.test.ts in its whole breadth.
import './folds.test.ts'
