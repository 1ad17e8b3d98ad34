/** The program's own functions on Postgres. They stand beside the views and are made with them. */

import { bytesAsTextStatements } from '../gate/expressions/bytesAsText.ts'
import { countCollectedStatement } from '../gate/expressions/collecting.ts'
import { seriesStatements } from '../gate/from/series.ts'
import { abiFunctionStatements } from './abiFunctions.ts'

/** The statements, in order. `schema` is quoted. */
export const ownFunctionStatements = (schema: string): readonly string[] => [
  ...abiFunctionStatements(schema),
  ...bytesAsTextStatements(schema),
  countCollectedStatement(schema),
  ...seriesStatements(schema),
]
