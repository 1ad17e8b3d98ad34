/** Every importer; a document is read by the first that knows its form. */

import { bazaar } from './bazaar.ts'
import type { Importer } from './importer.ts'
import { mppDirectory } from './mppDirectory.ts'
import { openapi } from './openapi.ts'
import { ownFormat } from './ownFormat.ts'

export const importers: readonly Importer[] = [openapi, bazaar, mppDirectory, ownFormat]
