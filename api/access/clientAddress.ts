/** Network addresses of clients: who shares a quota, and what a key may be used from. */
import { BlockList, isIP, isIPv4 } from 'node:net'

/** An IPv4 address as such, also where a socket for both kinds writes it as `::ffff:…`. */
export const plainAddress = (address: string): string => {
  const unmapped = address.toLowerCase().replace(/^::ffff:(?=[0-9.]+$)/, '')
  return unmapped.replace(/%.*$/, '')
}

export const isLoopback = (address: string): boolean => {
  const plain = plainAddress(address)
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'))
}

/**
 * The party that shares one quota: an IPv4 address, or a /56 of IPv6, which is what one household is given.
 */
export function addressGroup(address: string): string {
  const plain = plainAddress(address)
  if (isIP(plain) !== 6) return plain
  const [head = '', tail = ''] = plain.split('::')
  const groups = (text: string) => text.split(':').filter(Boolean)
  const missing = Math.max(0, 8 - groups(head).length - groups(tail).length)
  const all = plain.includes('::')
    ? [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)]
    : groups(head)
  const [a = '0', b = '0', c = '0', d = '0'] = all.map((group) => Number.parseInt(group, 16).toString(16))
  const fourth = (Number.parseInt(d, 16) & 0xff00).toString(16)
  return `${a}:${b}:${c}:${fourth}::/56`
}

/**
 * Connections of one address. A browser opens six, an office behind one address some hundred; all
 * of them are a twentieth of what the server takes.
 */
const CONNECTIONS_PER_ADDRESS = 500

/**
 * Limits of connections. The machine itself and trusted proxies have none, since they speak for
 * many.
 */
export function connectionLimits(trustedProxies: readonly string[]): {
  readonly perAddress: number
  readonly partyOf: (address: string) => string | null
} {
  const isProxy = addressList(trustedProxies)
  const partyOf = (address: string) =>
    isLoopback(address) || isProxy(address) ? null : addressGroup(address)
  return { perAddress: CONNECTIONS_PER_ADDRESS, partyOf }
}

/** Addresses and ranges in CIDR form. @throws RangeError naming the entry that is neither */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of entries) addEntry(list, entry)
  return (address) => {
    const plain = plainAddress(address)
    const kind = isIP(plain)
    return kind !== 0 && list.check(plain, kind === 6 ? 'ipv6' : 'ipv4')
  }
}

function addEntry(list: BlockList, entry: string): void {
  const [network = '', prefix, ...rest] = entry.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  const bitsMax = family === 'ipv6' ? 128 : 32
  const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (isIP(network) === 0 || rest.length > 0 || !(bits <= bitsMax))
    throw new RangeError(`${entry} is neither an address nor a range`)
  list.addSubnet(network, bits, family)
}
