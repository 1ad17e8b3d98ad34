/** Lists of a block that nothing reads here and everybody may see: withdrawals and uncles. */
import { isRecord } from '#primitives.ts'
import type { RpcBlock } from '../../read/block.ts'
import { spelledHex, spelledQuantity } from '../../read/spelling.ts'
import { type RlpItem, RlpWriter } from '../tries/rlp.ts'
import { orderedTrieRoot } from '../tries/trie.ts'

/** Hash of the empty list, and root of the trie of nothing. */
const NO_UNCLES: string = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
const NO_WITHDRAWALS: string = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/**
 * Whether the lists told are those of a header that was proved. A list left out tells nothing false.
 * @param isEthereum elsewhere the root may be of something else where no withdrawal is told
 */
export function hasListsOf(block: RpcBlock, isEthereum: boolean): boolean {
  return hasWithdrawals(block, isEthereum) && hasUncles(block, isEthereum)
}

function hasWithdrawals({ withdrawals, withdrawalsRoot }: RpcBlock, isEthereum: boolean): boolean {
  if (!Array.isArray(withdrawals)) return true
  const root = withdrawalsRoot ?? NO_WITHDRAWALS
  if (withdrawals.length === 0) return root === NO_WITHDRAWALS || !isEthereum
  return root === rootOf(withdrawals)
}

/** An uncle cannot be told from its hash, but whether there is one can. */
function hasUncles({ uncles, sha3Uncles }: RpcBlock, isEthereum: boolean): boolean {
  if (!Array.isArray(uncles)) return true
  return uncles.length === 0 ? sha3Uncles === NO_UNCLES || !isEthereum : sha3Uncles !== NO_UNCLES
}

const writer = new RlpWriter()
const QUANTITY_CHARACTERS_MAX = 2 + 16
const ADDRESS_CHARACTERS = 2 + 40

/** Null when an entry is none (EIP-4895). */
function rootOf(withdrawals: readonly unknown[]): string | null {
  const items = withdrawals.map(fieldsOf)
  if (items.includes(null)) return null
  return orderedTrieRoot(writer, items.length, (index) => writer.writeList(items[index] ?? []))
}

function fieldsOf(withdrawal: unknown): readonly RlpItem[] | null {
  if (!isRecord(withdrawal)) return null
  const [index, validatorIndex, amount] = ['index', 'validatorIndex', 'amount'].map((name) => {
    const number = spelledQuantity(withdrawal[name])
    return number !== null && number.length <= QUANTITY_CHARACTERS_MAX ? number : null
  })
  const to = spelledHex(withdrawal['address'])
  if (!index || !validatorIndex || !amount || to?.length !== ADDRESS_CHARACTERS) return null
  return [index, validatorIndex, to, amount]
}
