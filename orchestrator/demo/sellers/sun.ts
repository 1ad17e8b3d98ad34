/** Length of the day at a place. A fixed price. */
import { ok, type Seller } from '../seller.ts'

const DAY_MS = 86_400_000
const EARTH_TILT = 23.44

/** Hours between sunrise and sunset, by the sun's declination on that day. */
function dayHours(latitude: number, dayOfYear: number): number {
  const radians = Math.PI / 180
  const declination = -EARTH_TILT * Math.cos((2 * Math.PI * (dayOfYear + 10)) / 365) * radians
  const cosine = -Math.tan(latitude * radians) * Math.tan(declination)
  return (24 * Math.acos(Math.min(1, Math.max(-1, cosine)))) / Math.PI
}

export const sun: Seller = {
  id: 'demo-sun',
  name: 'Demo Sun',
  description: 'How long the day is, anywhere on any date. Runs on this machine.',
  categories: ['weather'],
  endpoints: [
    {
      method: 'POST',
      path: '/daylight',
      listing: {
        description: 'Hours of daylight at a latitude on a date: sunrise to sunset.',
        aliases: ['day length', 'sunrise sunset'],
        capabilities: ['daylight'],
        examples: ['how long is the day in June'],
        inputSchema: {
          type: 'object',
          properties: {
            latitude: { type: 'number', minimum: -90, maximum: 90 },
            date: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
          },
          required: ['latitude', 'date'],
          additionalProperties: false,
        },
        inputExample: { latitude: 48.8566, date: '2026-06-21' },
      },
      price: { kind: 'charge', amount: '0.002' },
      problemOf: ({ latitude, date }) =>
        typeof latitude === 'number' && !Number.isNaN(Date.parse(String(date)))
          ? null
          : '`latitude` and `date` are needed',
      answer: ({ latitude, date }) => {
        const day = new Date(String(date))
        const dayOfYear = (day.getTime() - Date.UTC(day.getUTCFullYear(), 0, 0)) / DAY_MS
        return ok({ latitude, date, daylightHours: Number(dayHours(Number(latitude), dayOfYear).toFixed(2)) })
      },
    },
  ],
}
