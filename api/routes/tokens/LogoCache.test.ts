import { expect, test } from 'vitest'
import { type Image, LogoCache } from './LogoCache.ts'

const picture = (bytes: number): Image => ({ contentType: 'image/png', body: Buffer.alloc(bytes) })

function cacheAt(bytesMax?: number) {
  const clock = { nowMs: 0, monotonic: () => clock.nowMs }
  const cache = new LogoCache(clock, bytesMax)
  const asked: string[] = []
  const read = (uri: string, image: Image | null) =>
    cache.read(uri, async () => {
      asked.push(uri)
      return image
    })
  return { cache, clock, asked, read }
}

test('a picture is fetched once an hour, and one that is missing once a minute', async () => {
  const { clock, asked, read } = cacheAt()
  for (const nowMs of [0, 59_999, 60_000, 3_599_999, 3_600_000]) {
    clock.nowMs = nowMs
    expect(await read('found', picture(10))).toEqual(picture(10))
    expect(await read('missing', null)).toBeNull()
  }
  expect(asked.filter((uri) => uri === 'found')).toHaveLength(2)
  expect(asked.filter((uri) => uri === 'missing')).toHaveLength(3)
})

test('the oldest make room by bytes, and what is larger than all is not kept', async () => {
  const { cache, asked, read } = cacheAt(100_000)
  for (const uri of ['a', 'b', 'c', 'd']) await read(uri, picture(30_000))
  expect(cache.byteLength).toBeLessThanOrEqual(100_000)
  asked.length = 0
  for (const uri of ['d', 'c', 'a']) await read(uri, picture(30_000))
  expect(asked).toEqual(['a'])
  await read('huge', picture(200_000))
  expect(cache.byteLength).toBe(0)
  await read('empty', null)
  expect(cache.byteLength).toBeGreaterThan(0)
})

test('a fetch that failed is tried again', async () => {
  const { cache, read } = cacheAt()
  const failing = cache.read('a', async () => {
    throw new Error('down')
  })
  await expect(failing).rejects.toThrow('down')
  expect(await read('a', picture(1))).toEqual(picture(1))
})
