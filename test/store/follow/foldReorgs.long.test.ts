import './foldReorgs.test.ts'
