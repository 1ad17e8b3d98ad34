import { describe, expect, it } from 'vitest'
import { skeletonOf } from './skeleton.ts'

describe('a name', () => {
  it.each(['OpenAl', 'Open AI', 'ОpenАI', '0penAI', 'ｏｐｅｎａｉ', 'Öpen-AI', 'open_a1'])(
    '%s imitates OpenAI',
    (name) => expect(skeletonOf(name)).toBe(skeletonOf('OpenAI')),
  )

  it('of its own imitates none', () => {
    const names = ['OpenAI', 'OpenWeather', 'Groq', 'Grok', 'Exa', 'Tavily', '天気', 'погода']
    expect(new Set(names.map(skeletonOf)).size).toBe(names.length)
  })
})
