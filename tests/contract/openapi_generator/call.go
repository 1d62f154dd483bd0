// Makes signed calls with the Go client that openapi-generator made: base URL and fields are the arguments.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	client "example.com/dashboard/client"
)

// signing is a transport that signs the bytes that it sends.
type signing struct{}

func (signing) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	random := make([]byte, 24)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	timestamp, nonce := strconv.FormatInt(time.Now().Unix(), 10), hex.EncodeToString(random)
	digest := sha256.Sum256(body)
	lines := []string{"ES1", timestamp, nonce, request.Method, request.URL.Path, hex.EncodeToString(digest[:])}
	mac := hmac.New(sha256.New, []byte(os.Getenv("SITE_API_SECRET")))
	mac.Write([]byte(strings.Join(lines, "\n")))

	signed := request.Clone(request.Context())
	signed.Body = io.NopCloser(bytes.NewReader(body))
	signed.Header.Set("x-service-timestamp", timestamp)
	signed.Header.Set("x-service-nonce", nonce)
	signed.Header.Set("x-service-signature", hex.EncodeToString(mac.Sum(nil)))
	return http.DefaultTransport.RoundTrip(signed)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	var dashboard client.DashboardRequest
	must(json.Unmarshal([]byte(os.Args[2]), &dashboard))
	var schedule client.ScanScheduleRequest
	must(json.Unmarshal([]byte(os.Args[2]), &schedule))

	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Args[1]}}
	configuration.HTTPClient = &http.Client{Transport: signing{}, Timeout: 45 * time.Second}
	api, background := client.NewAPIClient(configuration), context.Background()

	findings, _, err := api.CustomerThreatIntelligenceAPI.SiteDashboard(background).DashboardRequest(dashboard).Execute()
	must(err)
	fmt.Println(findings.Threats[0].Title)
	rules, _, err := api.CrawlerOperationsAPI.SiteScanSchedule(background).ScanScheduleRequest(schedule).Execute()
	must(err)
	fmt.Println(rules.Schedule.Frequency)

	dashboard.LinkId = "unknown"
	_, _, err = api.CustomerThreatIntelligenceAPI.SiteDashboard(background).DashboardRequest(dashboard).Execute()
	var refusal *client.GenericOpenAPIError
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Model().(client.ErrorResponse).Error.Code)
	}
}
