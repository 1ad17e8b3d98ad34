import type { ClickHouseClient } from '@clickhouse/client'

export type Exec = ClickHouseClient['exec']

/** The client with another way to insert. */
export function withExec(client: ClickHouseClient, exec: (insert: Exec) => Exec): ClickHouseClient {
  const insert = exec(client.exec.bind(client))
  return new Proxy(client, {
    get(target, property) {
      if (property === 'exec') return insert
      const value: unknown = Reflect.get(target, property)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
