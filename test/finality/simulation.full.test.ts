// simulation.test.ts in its whole breadth.
import './simulation.test.ts'
