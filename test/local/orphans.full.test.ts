// Goal: what a killed program leaves running ends by itself, unless a new start takes it over.
// Method: a program with Postgres and a local chain, killed; nobody starts again, or somebody does.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { DEV_CHAIN_ID, devChainFiles } from '#local/devchain/devChainRecord.ts'
import { identityOf, isAlive } from '#local/engines/processIdentity.ts'
import { processesOf } from '../support/processes.ts'
import { freshFolder, type Program, startProgram, until } from './engines/programs.ts'

const children = ({ pids }: Program) => [pids.postgres, pids.devchain].map(identityOf)

test.runIf(process.platform === 'linux')(
  'nobody starts again: Postgres and the chain end as they should',
  async () => {
    const dataDir = freshFolder()
    const program = await startProgram(dataDir, 'watch', 'postgres', 'devchain')
    const left = children(program)
    expect(left.map(isAlive)).toEqual([true, true])
    await program.kill()
    await until(() => !left.some(isAlive))
    await until(() => processesOf(dataDir, 'endOrphans').length === 0)
    const { state } = devChainFiles(dataDir, DEV_CHAIN_ID)
    expect(JSON.parse(readFileSync(state, 'utf8'))).toHaveProperty('blocks')
  },
)

test.runIf(process.platform === 'linux')('a new start goes on with them', async () => {
  const dataDir = freshFolder()
  const first = await startProgram(dataDir, 'watch', 'postgres', 'devchain')
  const [watch] = processesOf(dataDir, 'endOrphans')
  await first.kill()
  const second = await startProgram(dataDir, 'postgres', 'devchain')
  onTestFinished(() => {
    for (const pid of processesOf(dataDir)) process.kill(pid, 'SIGKILL')
  })
  await until(() => !isAlive(identityOf(watch ?? 0)))
  expect(second.pids).toMatchObject({ postgres: first.pids.postgres, devchain: first.pids.devchain })
  expect(children(second).map(isAlive)).toEqual([true, true])
})
