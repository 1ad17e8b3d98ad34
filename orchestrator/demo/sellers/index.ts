/** Every seller that comes with the program. */
import type { Seller } from '../seller.ts'
import { digest } from './digest.ts'
import { hashes } from './hashes.ts'
import { moody } from './moody.ts'
import { places } from './places.ts'
import { reports } from './reports.ts'
import { sun } from './sun.ts'
import { unitsSeller } from './units.ts'

export const sellers: readonly Seller[] = [places, sun, digest, reports, unitsSeller, hashes, moody]
