/** The commands of this folder that end, as processes of their own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'

/** Runs a command with its flags; answers the JSON it prints. @throws Error when it fails. */
export async function runCommand(
  command: 'generate' | 'record' | 'state',
  ...flags: readonly string[]
): Promise<unknown> {
  const child = spawn(process.execPath, [join(import.meta.dirname, `${command}.ts`), ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = json(child.stdout).catch(() => undefined)
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
  return printed
}
