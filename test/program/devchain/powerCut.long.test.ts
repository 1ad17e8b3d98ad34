// Goal: as powerCut.full.test.ts, at ten moments, and nothing is written in the meantime.
// Method: the same program, cut for minutes.
import './powerCut.full.test.ts'
