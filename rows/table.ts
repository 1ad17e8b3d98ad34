/**
 * A table of the service's own rows as a value: kysely's types and the test against the live schema
 * both derive from it.
 */
import type { ColumnType } from 'kysely'

/** A column's values by its Postgres type: as it is read, and as it is written. */
interface Values {
  readonly text: [read: string, written: string]
  readonly uuid: [read: string, written: string]
  readonly integer: [read: number, written: number]
  readonly bigint: [read: number, written: number | bigint]
  /** Decimal text, whatever its size. */
  readonly numeric: [read: string, written: bigint | string]
  readonly 'double precision': [read: number, written: number]
  readonly boolean: [read: boolean, written: boolean]
  readonly bytea: [read: Buffer, written: Uint8Array]
  readonly timestamptz: [read: Date, written: Date]
  /** Written as JSON text. */
  readonly jsonb: [read: unknown, written: string]
  /** Written as its literal. */
  readonly tsvector: [read: string, written: string]
  readonly 'text[]': [read: string[], written: readonly string[]]
}

export type PostgresType = keyof Values

export interface AppColumn {
  readonly type: PostgresType
  /** May hold null. */
  readonly nullable: boolean
  /** The database fills it when an insert leaves it out. */
  readonly filled: boolean
}

export type AppTable = Readonly<Record<string, AppColumn>>

/** A column that every insert gives. */
export const given = <Type extends PostgresType>(type: Type) =>
  ({ type, nullable: false, filled: false }) as const

/** A column that may be null, and is when an insert leaves it out. */
export const maybe = <Type extends PostgresType>(type: Type) =>
  ({ type, nullable: true, filled: true }) as const

/** A column with a default. */
export const filled = <Type extends PostgresType>(type: Type) =>
  ({ type, nullable: false, filled: true }) as const

type Read<Of extends AppColumn> = Values[Of['type']][0] | (Of['nullable'] extends true ? null : never)
type Written<Of extends AppColumn> = Values[Of['type']][1] | (Of['nullable'] extends true ? null : never)

/** The table as kysely sees it. */
export type Rows<Of extends AppTable> = {
  [Name in keyof Of]: ColumnType<
    Read<Of[Name]>,
    Written<Of[Name]> | (Of[Name]['filled'] extends true ? undefined : never),
    Written<Of[Name]>
  >
}
