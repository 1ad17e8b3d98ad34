/** The relay of a chain: over the endpoints that ingest reads, or over some of its own. */
import type { Clock } from '#runtime/runtime.ts'
import { type OpenTransport, poolOf, RpcClient } from '../rpc/client/client.ts'
import { distinctUrls } from '../rpc/client/endpointUrl.ts'
import { Endpoint } from '../rpc/endpoints/Endpoint.ts'
import type { PooledSource } from '../rpc/rpcSource.ts'
import { Relay } from './Relay.ts'
import { RELAY_DEADLINE_MS, RELAY_LIMIT_MAX, RelayEndpoint } from './RelayEndpoint.ts'

export interface RelayOptions {
  /** Endpoints for the calls of clients alone; empty or absent where the source's carry those too. */
  readonly relayUrls?: readonly string[]
  readonly clock: Clock
  /** HTTP over sockets by default. */
  readonly openTransport?: OpenTransport
}

/**
 * Connections of its own, so that ingest never waits behind a client's call. It is closed before
 * the source is. @throws SettingError when an address is not one
 */
export function openRelay(
  { chainId, pool }: Pick<PooledSource, 'chainId' | 'pool'>,
  { relayUrls = [], clock, openTransport }: RelayOptions,
): Relay {
  const isApart = relayUrls.length > 0
  const open = openTransport ?? poolOf(RELAY_DEADLINE_MS)
  const endpoints = (isApart ? distinctUrls(relayUrls) : pool.urls).map((url, index) => {
    const client = new RpcClient(url, clock, RELAY_LIMIT_MAX, open)
    const shared = isApart ? undefined : pool.endpoints[index]
    const endpoint = shared ?? new Endpoint(client, clock, chainId)
    return new RelayEndpoint(endpoint, client, pool.admission, clock, {
      chainId,
      sharesWithIngest: !isApart,
    })
  })
  if (isApart) pool.admission.join(endpoints.map(({ endpoint }) => endpoint))
  return new Relay(endpoints, clock, isApart, pool.heads)
}
