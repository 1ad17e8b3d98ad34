/** The damage that a row can take behind our back, done by SQL to one row of a block of a table. */
import { quoteIdentifier } from '#store/sql.ts'
import { type TableName, tables } from '#transform/tables.ts'
import type { ChainStore } from './chainStore.ts'

export interface Damage {
  /** Keeps the block's rows; the answer puts them back. */
  keep(name: TableName, block: number): Promise<() => Promise<void>>
  /** Changes one bit of a column of one row. */
  flip(name: TableName, block: number, column: string): Promise<void>
  drop(name: TableName, block: number): Promise<void>
  /** Adds a row equal to one that is there. */
  double(name: TableName, block: number): Promise<void>
}

export class PostgresDamage implements Damage {
  readonly #store: ChainStore

  constructor(store: ChainStore) {
    this.#store = store
  }

  async keep(name: TableName, block: number): Promise<() => Promise<void>> {
    const { blockColumn } = tables[name]
    // A key would refuse the doubled row, as it does for us.
    await this.#run(`ALTER TABLE ${this.#table(name)} DROP CONSTRAINT IF EXISTS ${name}_pkey`)
    await this.#run(`DROP TABLE IF EXISTS kept`)
    await this.#run(`CREATE TABLE kept AS SELECT * FROM ${this.#table(name)} WHERE ${blockColumn} = ${block}`)
    return async () => {
      await this.#run(`DELETE FROM ${this.#table(name)} WHERE ${blockColumn} = ${block}`)
      await this.#run(`INSERT INTO ${this.#table(name)} SELECT * FROM kept`)
    }
  }

  async flip(name: TableName, block: number, column: string): Promise<void> {
    const field = quoteIdentifier(column)
    const middle = `(octet_length(${field}) / 2)`
    const changed = `set_byte(${field}, ${middle}, get_byte(${field}, ${middle}) # 1)`
    await this.#run(`UPDATE ${this.#table(name)} SET ${field} = ${changed} WHERE ${this.#one(name, block)}`)
  }

  async drop(name: TableName, block: number): Promise<void> {
    await this.#run(`DELETE FROM ${this.#table(name)} WHERE ${this.#one(name, block)}`)
  }

  async double(name: TableName, block: number): Promise<void> {
    await this.#run(
      `INSERT INTO ${this.#table(name)} SELECT * FROM ${this.#table(name)} WHERE ${this.#one(name, block)}`,
    )
  }

  /** The condition that holds for the last row of the block. */
  #one(name: TableName, block: number): string {
    const { key, blockColumn } = tables[name]
    const columns = key.map(quoteIdentifier).join(', ')
    const descending = key.map((column) => `${quoteIdentifier(column)} DESC`).join(', ')
    return `(${columns}) = (SELECT ${columns} FROM ${this.#table(name)} WHERE ${blockColumn} = ${block} ORDER BY ${descending} LIMIT 1)`
  }

  #table(name: TableName): string {
    return `${quoteIdentifier(this.#store.schema)}.${quoteIdentifier(name)}`
  }

  async #run(sql: string): Promise<void> {
    await this.#store.postgres.pool.query(sql)
  }
}

export class ClickHouseDamage implements Damage {
  readonly #store: ChainStore

  constructor(store: ChainStore) {
    this.#store = store
  }

  async keep(name: TableName, block: number): Promise<() => Promise<void>> {
    const { blockColumn } = tables[name]
    const kept = `${this.#store.database}.kept`
    await this.#run(`DROP TABLE IF EXISTS ${kept}`)
    await this.#run(
      `CREATE TABLE ${kept} ENGINE = Memory AS SELECT * FROM ${this.#table(name)} WHERE ${blockColumn} = ${block}`,
    )
    return async () => {
      await this.#run(`ALTER TABLE ${this.#table(name)} DELETE WHERE ${blockColumn} = ${block}`)
      await this.#insert(name, `SELECT * FROM ${kept}`)
    }
  }

  async flip(name: TableName, block: number, column: string): Promise<void> {
    const field = `\`${column}\``
    const first = `char(bitXor(reinterpretAsUInt8(substring(${field}, 1, 1)), 1))`
    const bytes = tables[name].columns.find((one) => one.name === column)?.type === 'hash' ? 32 : 20
    const changed = `toFixedString(concat(${first}, substring(${field}, 2)), ${bytes})`
    await this.#run(
      `ALTER TABLE ${this.#table(name)} UPDATE ${field} = ${changed} WHERE ${this.#one(name, block)}`,
    )
  }

  async drop(name: TableName, block: number): Promise<void> {
    await this.#run(`ALTER TABLE ${this.#table(name)} DELETE WHERE ${this.#one(name, block)}`)
  }

  async double(name: TableName, block: number): Promise<void> {
    await this.#insert(name, `SELECT * FROM ${this.#table(name)} WHERE ${this.#one(name, block)}`)
  }

  /** Copies one row of a block to another block. */
  async move(name: TableName, from: number, to: number): Promise<void> {
    const { blockColumn } = tables[name]
    // An alias of a column's name would stand for the column in the condition too, so the row is
    // chosen first.
    const row = `SELECT * FROM ${this.#table(name)} WHERE ${this.#one(name, from)}`
    const select = `SELECT * REPLACE (${to} AS ${blockColumn}) FROM (${row})`
    await this.#insert(name, select)
  }

  #one(name: TableName, block: number): string {
    const { key, blockColumn } = tables[name]
    const columns = key.map((column) => `\`${column}\``).join(', ')
    const last = `SELECT max((${columns})) FROM ${this.#table(name)} WHERE ${blockColumn} = ${block}`
    return `(${columns}) = (${last})`
  }

  #table(name: TableName): string {
    return `${this.#store.database}.${name}`
  }

  /**
   * Our tables remember tokens, and without one the rows' own hash: equal rows would be dropped as
   * a retry.
   */
  async #insert(name: TableName, select: string): Promise<void> {
    await this.#store.clickhouse.command({
      query: `INSERT INTO ${this.#table(name)} ${select}`,
      clickhouse_settings: { insert_deduplicate: 0 },
    })
  }

  async #run(query: string): Promise<void> {
    await this.#store.clickhouse.command({
      query,
      clickhouse_settings: { mutations_sync: '2', allow_nondeterministic_mutations: 1 },
    })
  }
}
