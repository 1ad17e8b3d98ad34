// Goal: a data directory is private, held by one program at a time, and taken over from a dead one.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { readConnection, removeConnection, writeConnection } from '#local/engines/connection.ts'
import { assertAnswers, openDataDir } from '#local/engines/dataDir.ts'
import { asDataDirectoryError, DataDirectoryError } from '#local/engines/errors.ts'
import { identityOf, isAlive, ownIdentity } from '#local/engines/processIdentity.ts'
import { type Clock, systemRuntime } from '#runtime/runtime.ts'
import { freshFolder, startProgram } from './programs.ts'

/** The error a call throws. */
function errorOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

test('a missing directory is made, private', () => {
  const path = join(freshFolder(), 'a', 'b')
  const { release } = openDataDir(path)
  expect(statSync(path).mode & 0o066).toBe(0)
  expect(statSync(join(path, 'lock')).mode & 0o077).toBe(0)
  release()
})

test('a directory is held by one program at a time, and the refusal names its pid', async () => {
  const folder = freshFolder()
  const program = await startProgram(folder)
  const error = errorOf(() => openDataDir(folder))
  expect(error).toBeInstanceOf(DataDirectoryError)
  expect(error).toMatchObject({ problem: 'locked', pid: program.pids.program, path: folder })
  expect(String(error)).toContain('DATA_DIR')
  expect(String(error)).toContain(String(program.pids.program))

  await program.kill()
  openDataDir(folder).release()
})

test('a lock whose pid belongs to another process by now is taken over', () => {
  const folder = freshFolder()
  writeFileSync(join(folder, 'lock'), JSON.stringify({ ...ownIdentity(), startedAt: 'another boot/1' }))
  const { release } = openDataDir(folder)
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toEqual(ownIdentity())
  release()
})

test('half a lock is taken over', () => {
  const folder = freshFolder()
  writeFileSync(join(folder, 'lock'), '{"pid":')
  openDataDir(folder).release()
})

test('the same program cannot open a directory twice, but again after release', () => {
  const folder = freshFolder()
  const first = openDataDir(folder)
  expect(errorOf(() => openDataDir(folder))).toMatchObject({ problem: 'locked', pid: process.pid })
  first.release()
  const second = openDataDir(folder)
  first.release()
  expect(errorOf(() => openDataDir(folder))).toMatchObject({ problem: 'locked' })
  second.release()
})

test('a file in the place of the directory is told', () => {
  const path = join(freshFolder(), 'file')
  writeFileSync(path, '')
  expect(errorOf(() => openDataDir(path))).toMatchObject({ problem: 'not_a_directory', path })
  expect(errorOf(() => openDataDir(join(path, 'below')))).toMatchObject({ problem: 'not_a_directory' })
})

test.each([
  ['EACCES', 'permission'],
  ['EROFS', 'permission'],
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['ENOTDIR', 'not_a_directory'],
  ['EIO', 'unreadable'],
])('%s of the file system is %s', (code, problem) => {
  const error = asDataDirectoryError('/data', Object.assign(new Error(code), { code }))
  expect(error).toMatchObject({ code: 'data_directory_unusable', remedy: 'stop', problem, path: '/data' })
  expect(error.message).toContain('DATA_DIR')
})

test('a place where nobody may write is told', () => {
  // Refused to everybody, root included: /sys takes no directories.
  expect(errorOf(() => openDataDir('/sys/millrace'))).toMatchObject({ problem: 'permission' })
})

test('a place where no directory can be made is told, and does not hang', () => {
  expect(errorOf(() => openDataDir('/proc/millrace/data'))).toMatchObject({ problem: 'unreadable' })
})

test('a file system that does not answer is told', async () => {
  const clock: Clock = { ...systemRuntime().clock, sleep: () => Promise.resolve() }
  await expect(assertAnswers('/data', clock, ['sleep', '1000'])).rejects.toMatchObject({
    problem: 'silent',
    path: '/data',
    message: expect.stringContaining('does not answer'),
  })
  const { clock: patient } = systemRuntime()
  await assertAnswers(freshFolder(), patient)
  await assertAnswers('/no/such/folder', patient)
})

test('a pid is alive only as the process it was written down for', () => {
  const own = ownIdentity()
  expect(isAlive(own)).toBe(true)
  expect(isAlive({ ...own, startedAt: 'another boot/1' })).toBe(false)
  expect(isAlive({ pid: 2 ** 22 + 1, startedAt: undefined })).toBe(false)
  expect(identityOf(process.pid)).toEqual(own)
})

test('a command beside finds the engines of the running program, privately', () => {
  const folder = freshFolder()
  const connection = {
    databaseUrl: 'postgres://u:p@127.0.0.1:1/d',
    clickhouseUrl: 'http://127.0.0.1:2',
    clickhouseUsername: 'u',
    clickhousePassword: 'p',
  }
  expect(readConnection(folder)).toBeUndefined()
  writeConnection(folder, connection)
  expect(readConnection(folder)).toEqual(connection)
  expect(statSync(join(folder, 'connection.json')).mode & 0o077).toBe(0)
  removeConnection(folder)
  expect(readConnection(folder)).toBeUndefined()
})

test('the note of a killed program is not believed', () => {
  const folder = freshFolder()
  const note = { databaseUrl: 'a', clickhouseUrl: 'b', clickhouseUsername: 'c', clickhousePassword: 'd' }
  const dead = { ...ownIdentity(), startedAt: 'another boot/1' }
  writeFileSync(join(folder, 'connection.json'), JSON.stringify({ ...note, process: dead }))
  expect(readConnection(folder)).toBeUndefined()
})
