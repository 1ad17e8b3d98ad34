// routes.test.ts in its whole breadth.
import './routes.test.ts'
