// seal.test.ts in its whole breadth.
import './seal.test.ts'
