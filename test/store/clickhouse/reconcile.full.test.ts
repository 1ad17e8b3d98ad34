// reconcile.test.ts in its whole breadth.
import './reconcile.test.ts'
