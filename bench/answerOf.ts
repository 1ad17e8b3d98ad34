/** A child process's next message in a bench; an error if it ends instead, having said why. */
import type { ChildProcess } from 'node:child_process'
import { basename } from 'node:path'

export function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => {
      child.off('message', onMessage)
      reject(new Error(`${basename(child.spawnargs.at(-1) ?? '')} ended with ${code}`))
    }
    const onMessage = (message: unknown) => {
      child.off('exit', onExit)
      resolve(message as Answer)
    }
    child.once('exit', onExit)
    child.once('message', onMessage)
  })
}
