/**
 * Names of the catalog's services by the realms of their challenges: payments carry a fingerprint
 * of the realm, and nothing else that says for which service they were.
 */
import { getDomain } from 'tldts'
import { listRealms } from '#rows/catalog/catalogReads.ts'
import type { AppDatabase } from '#rows/database.ts'

export interface RealmName {
  readonly realm: string
  readonly name: string
}

/** Far above any directory known; all of them are held in memory. */
const SERVICES_MAX = 100_000

/**
 * One name for each realm. A service names only the domain that it is in, so that none can put its
 * name on what is paid to another. A realm that several services share tells nobody which of them
 * was paid: it is named by itself.
 */
export async function readRealmNames(app: AppDatabase): Promise<RealmName[]> {
  const listed = await listRealms(app, SERVICES_MAX)
  const byRealm = Map.groupBy(
    listed.filter(({ realm, serviceUrl }) => isOfDomain(new URL(serviceUrl), realm)),
    ({ realm }) => realm,
  )
  return [...byRealm].map(([realm, services]) => {
    const names = new Set(services.map(({ name }) => name))
    const [name = realm] = names.size === 1 ? names : []
    return { realm, name }
  })
}

const LOOPBACK = '127.0.0.1'

/**
 * Names below `localhost` are of this machine. A name under which anybody gets a domain (`com`,
 * `workers.dev`) is no one's of those below it: the Public Suffix List knows them.
 */
const isOfDomain = ({ host, hostname }: URL, realm: string): boolean =>
  host === realm ||
  hostname === realm ||
  (hostname.endsWith(`.${realm}`) && getDomain(realm, { allowPrivateDomains: true }) !== null) ||
  (hostname === LOOPBACK && realm.endsWith('.localhost'))
