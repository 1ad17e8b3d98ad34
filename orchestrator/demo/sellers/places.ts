/** Finds the coordinates of well-known cities. A fixed price. */
import { ok, type Seller, textOrEmpty } from '../seller.ts'

const cities: Readonly<Record<string, readonly [number, number, string]>> = {
  paris: [48.8566, 2.3522, 'France'],
  london: [51.5072, -0.1276, 'United Kingdom'],
  berlin: [52.52, 13.405, 'Germany'],
  'new york': [40.7128, -74.006, 'United States'],
  'san francisco': [37.7749, -122.4194, 'United States'],
  tokyo: [35.6762, 139.6503, 'Japan'],
  singapore: [1.3521, 103.8198, 'Singapore'],
  sydney: [-33.8688, 151.2093, 'Australia'],
  'sao paulo': [-23.5505, -46.6333, 'Brazil'],
  nairobi: [-1.2921, 36.8219, 'Kenya'],
}

export const places: Seller = {
  id: 'demo-places',
  name: 'Demo Places',
  description: 'Coordinates of well-known cities. Runs on this machine.',
  categories: ['maps'],
  endpoints: [
    {
      method: 'POST',
      path: '/geocode',
      listing: {
        description: 'Geocodes a city: latitude, longitude and country by its name.',
        aliases: ['find coordinates', 'locate city'],
        capabilities: ['geocoding'],
        examples: ['where is a city', 'coordinates of a city'],
        inputSchema: {
          type: 'object',
          properties: { city: { type: 'string', minLength: 1, maxLength: 100 } },
          required: ['city'],
          additionalProperties: false,
        },
        inputExample: { city: 'Paris' },
      },
      price: { kind: 'charge', amount: '0.01' },
      problemOf: ({ city }) => (typeof city === 'string' ? null : '`city` is missing'),
      answer: ({ city }) => {
        const found = cities[textOrEmpty(city).trim().toLowerCase()]
        if (!found) return { status: 404, body: { error: 'unknown city', known: Object.keys(cities) } }
        const [latitude, longitude, country] = found
        return ok({ city, latitude, longitude, country })
      },
    },
  ],
}
