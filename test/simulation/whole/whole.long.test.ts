// whole.test.ts, with a hundred histories.
import './whole.test.ts'
