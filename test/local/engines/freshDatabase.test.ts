// Goal: a database of a test is empty and its own, in both engines.
import { createClient } from '@clickhouse/client'
import { Client } from 'pg'
import { expect, test } from 'vitest'

import { freshDatabase } from '#test/support/engines.ts'

test('a fresh database is empty and its own, in both engines', async () => {
  const [one, two] = await Promise.all([freshDatabase(), freshDatabase()])
  expect(one.databaseUrl).not.toBe(two.databaseUrl)
  expect(one.chainId).not.toBe(two.chainId)

  const postgres = new Client({ connectionString: one.databaseUrl })
  await postgres.connect()
  const tables = await postgres.query(`SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'public'`)
  expect(tables.rows).toEqual([{ n: 0 }])
  await postgres.end()

  const clickhouse = createClient({
    url: one.clickhouseUrl,
    username: one.clickhouseUsername,
    password: one.clickhousePassword,
  })
  const answer = await clickhouse.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' })
  expect(await answer.json()).toEqual([{ version: expect.stringMatching(/^26\./) }])
  for (const { chainId } of [one, two])
    await clickhouse.command({ query: `CREATE DATABASE chain_${chainId}` })
  const chains = async () => {
    const names = `'chain_${one.chainId}', 'chain_${two.chainId}'`
    const query = `SELECT name FROM system.databases WHERE name IN (${names})`
    return (await clickhouse.query({ query, format: 'JSONEachRow' })).json()
  }
  await one.drop()
  expect(await chains()).toEqual([{ name: `chain_${two.chainId}` }])
  await two.drop()
  expect(await chains()).toEqual([])
  await clickhouse.close()
})
