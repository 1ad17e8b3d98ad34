// transfers.test.ts in its whole breadth.
import './transfers.test.ts'
