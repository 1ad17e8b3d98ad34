/**
 * Header fields that came with forks, behind the 15 that every header has and in the order in which
 * they are hashed: by Ethereum, and by Tempo in the header that its own one wraps. A header has a
 * beginning of this table; one that is left out before another is hashed as the empty string.
 */

export interface ForkField {
  /** As its standard writes it; of those that are stored, the column of `blocks`. */
  readonly name: string
  /**
   * The form of the hashed value: 32 bytes, or a number without leading zeros, of which zero is the empty
   * string.
   */
  readonly kind: 'hash' | 'uint64' | 'uint256'
  /** As nodes answer it. */
  readonly json: string
}

export const forkFields = [
  // London: EIP-1559.
  { name: 'base_fee_per_gas', kind: 'uint256', json: 'baseFeePerGas' },
  // Shanghai: EIP-4895.
  { name: 'withdrawals_root', kind: 'hash', json: 'withdrawalsRoot' },
  // Cancun: EIP-4844 and EIP-4788. Neither is stored, so that a number of another size stops nothing.
  { name: 'blob_gas_used', kind: 'uint256', json: 'blobGasUsed' },
  { name: 'excess_blob_gas', kind: 'uint256', json: 'excessBlobGas' },
  { name: 'parent_beacon_block_root', kind: 'hash', json: 'parentBeaconBlockRoot' },
  // Prague: EIP-7685.
  { name: 'requests_hash', kind: 'hash', json: 'requestsHash' },
  // Amsterdam: EIP-7928 and EIP-7843.
  { name: 'block_access_list_hash', kind: 'hash', json: 'blockAccessListHash' },
  { name: 'slot_number', kind: 'uint64', json: 'slotNumber' },
] as const satisfies readonly ForkField[]

export type ForkFieldKind = ForkField['kind']

/** As nodes answer them, those of one kind alone or all. */
export type ForkFieldName<Kind extends ForkFieldKind = ForkFieldKind> = Extract<
  (typeof forkFields)[number],
  { readonly kind: Kind }
>['json']

export const forkFieldNames: readonly ForkFieldName[] = forkFields.map(({ json }) => json)

type Header = Readonly<Partial<Record<ForkFieldName, unknown>>>

/** Fields of the table up to the last one that a header has; those between may be absent. */
export function countForkFields(header: Header): number {
  let count = forkFieldNames.length
  for (; count > 0; count--) {
    const name = forkFieldNames[count - 1]
    if (name !== undefined && header[name] !== undefined && header[name] !== null) break
  }
  return count
}

/**
 * Whether a header has Amsterdam's list hash and no slot. Nodes answer so that keep to a schema of
 * JSON-RPC which names the first alone: such a header does not hash, and is no lie.
 */
export const leavesOutSlot = ({ blockAccessListHash = null, slotNumber = null }: Header): boolean =>
  blockAccessListHash !== null && slotNumber === null
