/** People: one for each address that signed in or was named as a member. */
import type { Address } from '#primitives.ts'
import { toBytes, toHex } from '#store/sql.ts'
import type { AppDatabase } from '../database.ts'
import { newId } from '../identifiers.ts'

export interface User {
  readonly id: string
  readonly address: `0x${string}` | null
  readonly email: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The person of an address, made when there is none. */
export async function userOfAddress(app: AppDatabase, address: Address): Promise<User> {
  await app
    .insertInto('app.users')
    .values({ id: newId('usr'), address: toBytes(address) })
    .onConflict((conflict) => conflict.column('address').doNothing())
    .execute()
  return userOf(await select(app).where('address', '=', toBytes(address)).executeTakeFirstOrThrow())
}

export async function findUser(app: AppDatabase, id: string): Promise<User | null> {
  const row = await select(app).where('id', '=', id).executeTakeFirst()
  return row ? userOf(row) : null
}

/** Whether somebody of this address signed in or was named before. */
export async function isKnownAddress(app: AppDatabase, address: Address): Promise<boolean> {
  return (await select(app).where('address', '=', toBytes(address)).executeTakeFirst()) !== undefined
}

const select = (app: AppDatabase) => app.selectFrom('app.users').selectAll()

type UserRow = Awaited<ReturnType<ReturnType<typeof select>['executeTakeFirstOrThrow']>>

const userOf = ({ id, address, email, created_at, updated_at }: UserRow): User => ({
  id,
  address: address && toHex(address),
  email,
  createdAt: created_at,
  updatedAt: updated_at,
})
