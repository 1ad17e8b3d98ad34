// Goal: the C library's settings reach the process that decodes, and nothing else of it changes.
// Method: a script of two lines in a process of its own, which tells how it was started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'millrace-allocator-'))
afterAll(() => rmSync(folder, { recursive: true }))

const allocator = new URL('../../../program/process/allocator.ts', import.meta.url).href
const script = join(folder, 'script.mjs')
writeFileSync(
  script,
  `import { readFileSync } from 'node:fs'
  import { applyAllocatorSettings } from '${allocator}'
  applyAllocatorSettings()
  const started = readFileSync('/proc/self/environ', 'utf8').split('\\0')
  const isOurs = (name) => name.startsWith('MALLOC_') || name.startsWith('MILLRACE_')
  console.log(JSON.stringify({
    pid: process.pid, args: process.argv.slice(2), flags: process.execArgv,
    started: started.filter(isOurs).sort(), handedOn: Object.keys(process.env).filter(isOurs),
  }))`,
)

const onLinux = test.runIf(process.platform === 'linux')

onLinux(
  'the program starts anew under its settings, as the same process, and hands none of them on',
  async () => {
    const { child, said } = await run({})
    expect(said).toMatchObject({
      pid: child.pid,
      args: ['up', 'a b'],
      flags: ['--stack-size=900'],
      handedOn: [],
    })
    expect(said.started).toContain('MALLOC_ARENA_MAX=2')
  },
)

onLinux('what the operator set stays as it is', async () => {
  const { said } = await run({ MALLOC_ARENA_MAX: '8' })
  expect(said).toMatchObject({ started: ['MALLOC_ARENA_MAX=8'], handedOn: ['MALLOC_ARENA_MAX'] })
})

onLinux('whoever sets anything of the allocator decides all of it', async () => {
  const { said } = await run({ MALLOC_TOP_PAD_: '65536' })
  expect(said).toMatchObject({ started: ['MALLOC_TOP_PAD_=65536'] })
})

onLinux('a process that talks with its parent keeps the channel', async () => {
  const { said } = await run({}, 'ipc')
  expect(said).toMatchObject({ started: [], handedOn: [] })
})

async function run(
  settings: Readonly<Record<string, string>>,
  channel: 'ipc' | 'ignore' = 'ignore',
): Promise<{ readonly child: ChildProcess; readonly said: { readonly started: readonly string[] } }> {
  const bare = Object.entries(process.env).filter(
    ([name]) => !/^(MALLOC_|MILLRACE_|GLIBC_TUNABLES)/.test(name),
  )
  const child = spawn(process.execPath, ['--stack-size=900', script, 'up', 'a b'], {
    env: { ...Object.fromEntries(bare), ...settings },
    stdio: ['ignore', 'pipe', 'inherit', channel],
  })
  if (!child.stdout) throw new Error('the script has no output')
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { child, said: JSON.parse(said) }
}
