/** Everything that the logs of a chain name, whose state can be asked for. */
import { toEventSelector } from 'viem'
import { type DevRpc, hexQuantity } from '#local/devchain/DevRpc.ts'
import type { SeenLog } from '#local/devchain/traffic/learned.ts'
import { parseLog } from '#local/devchain/traffic/produceBlock.ts'
import type { Hex } from '#primitives.ts'

export interface Named {
  readonly tokens: readonly Hex[]
  readonly held: readonly (readonly [token: Hex, holder: Hex])[]
  readonly allowances: readonly (readonly [token: Hex, owner: Hex, spender: Hex])[]
  /** Ids of all orders ever placed. */
  readonly orders: readonly bigint[]
  readonly makers: readonly (readonly [maker: Hex, token: Hex])[]
}

/** Blocks of one request. */
const RUN = 20

const events = {
  transfer: toEventSelector('Transfer(address,address,uint256)'),
  approval: toEventSelector('Approval(address,address,uint256)'),
  placed: toEventSelector('OrderPlaced(uint128,address,address,uint128,bool,int16,bool,int16)'),
}

/** Reads the logs of all blocks up to `last`. */
export async function readNamed(rpc: DevRpc, last: number): Promise<Named> {
  const found = new Found()
  for (let from = 0; from <= last; from += RUN) {
    const to = Math.min(from + RUN - 1, last)
    const range = { fromBlock: hexQuantity(from), toBlock: hexQuantity(to), topics: [Object.values(events)] }
    const logs = await rpc.call('eth_getLogs', range)
    for (const log of Array.isArray(logs) ? logs : []) found.add(parseLog(log))
  }
  return found.named()
}

class Found {
  readonly #held = new Map<string, readonly [Hex, Hex]>()
  readonly #allowances = new Map<string, readonly [Hex, Hex, Hex]>()
  readonly #orders: bigint[] = []
  readonly #makers = new Map<string, readonly [Hex, Hex]>()

  add({ address, topics: [event, ...indexed] }: SeenLog): void {
    const [first = '0x', second = '0x', third = '0x'] = indexed
    if (event === events.placed) {
      this.#orders.push(BigInt(first))
      this.#makers.set(`${address} ${second} ${third}`, [addressOf(second), addressOf(third)])
    } else if (indexed.length === 2) {
      const parties = [addressOf(first), addressOf(second)] as const
      if (event === events.approval) this.#allowances.set(`${address} ${parties}`, [address, ...parties])
      else for (const holder of parties) this.#held.set(`${address} ${holder}`, [address, holder])
    }
  }

  named(): Named {
    const held = [...this.#held.values()]
    return {
      held,
      tokens: [...new Set(held.map(([token]) => token))],
      allowances: [...this.#allowances.values()],
      orders: this.#orders,
      makers: [...this.#makers.values()],
    }
  }
}

const addressOf = (topic: Hex): Hex => `0x${topic.slice(26)}`
