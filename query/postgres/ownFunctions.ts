/** The program's own functions on Postgres. They stand beside the views and are made with them. */

import { abiFunctionStatements } from './abiFunctions.ts'
import { bytesAsTextStatements } from './bytesAsText.ts'
import { countCollectedStatement } from './collecting.ts'
import { seriesStatements } from './series.ts'

/** The statements, in order. `schema` is quoted. */
export const ownFunctionStatements = (schema: string): readonly string[] => [
  ...abiFunctionStatements(schema),
  ...bytesAsTextStatements(schema),
  countCollectedStatement(schema),
  ...seriesStatements(schema),
]
