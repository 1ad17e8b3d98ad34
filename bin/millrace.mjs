#!/usr/bin/env node
// Runs main.ts under the Node that comes with the project: the machine's own may be too old to run TypeScript.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bundled = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
const node = existsSync(bundled) ? bundled : process.execPath
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal ? 1 : 0)
})
