/** A plan of the demo's sellers: five calls in three stages. */

/** Id of a service that is there where the demo runs, and found by its own name. */
export const exampleNeeds = 'demo-places'

export const examplePlan = `{"nodes": [
  {"id": "place", "serviceId": "demo-places", "method": "POST", "path": "/geocode",
   "input": {"city": "Paris"}},
  {"id": "block", "serviceId": "millrace-chain-data", "method": "GET", "path": "/v1/blocks/latest"},
  {"id": "day", "serviceId": "demo-sun", "method": "POST", "path": "/daylight",
   "input": {"latitude": "flow://place/output#/latitude", "date": "2026-06-21"},
   "dependsOn": ["place"]},
  {"id": "miles", "serviceId": "demo-units", "method": "GET", "path": "/convert",
   "input": {"value": 10, "from": "km", "to": "mi"},
   "dependsOn": ["place"]},
  {"id": "report", "serviceId": "demo-reports", "method": "POST", "path": "/reports",
   "input": {"title": "Daylight", "facts": "flow://day/output"},
   "dependsOn": ["day", "miles"]}
]}
`
