/** Services that ship in the catalog, at the addresses of this start. */
import { demoServices } from '../../demo/listing.ts'
import { chainData } from './chainData.ts'

export interface ShippedPlaces {
  /** The URL of this program. */
  readonly api: string
  /** The address on which the demo's sellers listen; null if they do not run. */
  readonly demo: string | null
}

/** Services of our own format: a new one is a file beside this, and a line here. */
export const shippedServices = ({ api, demo }: ShippedPlaces): readonly object[] => [
  chainData(api),
  ...(demo === null ? [] : demoServices(demo)),
]
