#!/usr/bin/env node
// Runs main.ts under a Node that can: this one when it is new enough, else the one that came with
// `npm install`.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The oldest Node the program is tested with. */
const MAJOR_MIN = 26
const pathOf = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const bundled = pathOf('node_modules/.bin/node')

if (Number.parseInt(process.versions.node, 10) >= MAJOR_MIN) await import('../main.ts')
else if (existsSync(bundled)) runBundled()
else {
  process.stderr.write(
    `millrace: needs Node ${MAJOR_MIN} or newer, and this is ${process.version}. \`npm install\` brings one along on Linux and macOS, unless optional dependencies are left out.\n`,
  )
  process.exitCode = 1
}

function runBundled() {
  const args = [pathOf('main.ts'), ...process.argv.slice(2)]
  // Becomes the program, where Node can: nothing stands between it and its signals then.
  if (typeof process.execve === 'function') process.execve(bundled, [bundled, ...args], process.env)
  // The channel closes when this process is gone, however that came; main.ts then ends too.
  const child = spawn(bundled, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal ? 1 : 0)
  })
}
