// Goal: the recordings are what their manifests say.
// Method: read each by every reader, and compare with digest, numbers and links.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type RecordedBlock, readCalls, readManifest, readRecording, streamRecording } from './recordings.ts'

interface Linked {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
}

describe.each(['tempo-dev-2k', 'tempo-dev-30k'])('recording %s', (name) => {
  const manifest = readManifest(name)

  test('is the text of its manifest, block after block', async () => {
    const digest = createHash('sha256')
    const links: Linked[] = []
    for await (const entry of streamRecording(name)) {
      digest.update(`${JSON.stringify(entry)}\n`)
      links.push(linkOf(entry))
    }
    expect(digest.digest('hex')).toBe(manifest.sha256OfText)
    expect(links.map(({ number }) => Number(number))).toEqual(
      Array.from(
        { length: manifest.lastBlock - manifest.firstBlock + 1 },
        (_, index) => manifest.firstBlock + index,
      ),
    )
    expect(links.slice(1).map(({ parentHash }) => parentHash)).toEqual(
      links.slice(0, -1).map(({ hash }) => hash),
    )
  })

  test('holds the answers to calls for the metadata of tokens', () => {
    const calls = Object.entries(readCalls(name))
    expect(calls.filter(([key]) => !/^0x[0-9a-f]{40}:0x[0-9a-f]{8}$/.test(key))).toEqual([])
    expect(calls.length).toBeGreaterThan(300)
  })
})

test('a step leaves out the blocks between', () => {
  const all = readRecording('tempo-dev-2k')
  expect(readRecording('tempo-dev-2k', 50)).toEqual([all[0], all[50], all[100]])
})

function linkOf({ block }: RecordedBlock): Linked {
  const { number, hash, parentHash } = block as Linked
  return { number, hash, parentHash }
}
