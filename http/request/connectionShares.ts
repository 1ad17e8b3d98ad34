/**
 * How many connections one network address holds, so that none of them takes the places of all
 * others.
 */
import type { EventEmitter } from 'node:events'

export interface ConnectionLimits {
  readonly perAddress: number
  /**
   * The party that connections count for: addresses of one household. Null counts nothing, as for a proxy.
   */
  readonly partyOf: (address: string) => string | null
}

interface Connection extends Pick<EventEmitter, 'once'> {
  readonly remoteAddress?: string | undefined
  destroy(): unknown
}

/**
 * Ends each connection of a party that holds all it may. It is cut without an answer: one would
 * cost more than the connection.
 */
export function limitConnections(server: EventEmitter, { perAddress, partyOf }: ConnectionLimits): void {
  const held = new Map<string, number>()
  const leave = (party: string) => {
    const left = (held.get(party) ?? 0) - 1
    if (left > 0) held.set(party, left)
    else held.delete(party)
  }
  server.on('connection', (connection: Connection) => {
    const party = connection.remoteAddress === undefined ? null : partyOf(connection.remoteAddress)
    if (party === null) return
    const holds = held.get(party) ?? 0
    if (holds >= perAddress) return void connection.destroy()
    held.set(party, holds + 1)
    connection.once('close', () => leave(party))
  })
}
