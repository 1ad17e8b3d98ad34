import type { LeaseHolder } from '#runtime/lease.ts'

/** A holder of leases that knows nothing of others; under the same name it is the same one. */
export const namedHolder = (name: string): LeaseHolder => ({
  name,
  hasEnded: () => false,
  conflictWith: () => null,
})
