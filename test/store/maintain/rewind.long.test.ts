// rewind.test.ts in its whole breadth.
import './rewind.test.ts'
