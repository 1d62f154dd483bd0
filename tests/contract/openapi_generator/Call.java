import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.HexFormat;
import java.util.concurrent.Flow;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.CrawlerOperationsApi;
import org.openapitools.client.api.CustomerThreatIntelligenceApi;
import org.openapitools.client.model.DashboardRequest;
import org.openapitools.client.model.ErrorResponse;
import org.openapitools.client.model.ScanScheduleRequest;

/** Makes signed calls with the Java client that openapi-generator made: base URL and fields are the arguments. */
public class Call {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    client.setRequestInterceptor(Call::sign);
    var mapper = client.getObjectMapper();

    var findings = new CustomerThreatIntelligenceApi(client);
    var dashboard = mapper.readValue(arguments[1], DashboardRequest.class);
    System.out.println(findings.siteDashboard(dashboard).getThreats().get(0).getTitle());
    var schedule = mapper.readValue(arguments[1], ScanScheduleRequest.class);
    System.out.println(new CrawlerOperationsApi(client).siteScanSchedule(schedule).getSchedule().getFrequency());
    try {
      findings.siteDashboard(dashboard.linkId("unknown"));
    } catch (ApiException refusal) {
      System.out.println(mapper.readValue(refusal.getResponseBody(), ErrorResponse.class).getError().getCode());
    }
  }

  /** Signs the bytes that the request sends. */
  private static void sign(HttpRequest.Builder builder) {
    try {
      HttpRequest request = builder.build();
      byte[] random = new byte[24];
      new SecureRandom().nextBytes(random);
      String nonce = HexFormat.of().formatHex(random);
      String timestamp = Long.toString(Instant.now().getEpochSecond());
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bodyOf(request));
      String canonical = String.join("\n", "ES1", timestamp, nonce, request.method(),
          request.uri().getRawPath(), HexFormat.of().formatHex(digest));
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(System.getenv("SITE_API_SECRET").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] signature = mac.doFinal(canonical.getBytes(StandardCharsets.UTF_8));
      builder.setHeader("x-service-timestamp", timestamp);
      builder.setHeader("x-service-nonce", nonce);
      builder.setHeader("x-service-signature", HexFormat.of().formatHex(signature));
    } catch (java.security.GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  /** Returns the body: the client sends an array of bytes, whose publisher has it at once. */
  private static byte[] bodyOf(HttpRequest request) {
    var body = new ByteArrayOutputStream();
    request.bodyPublisher().orElseThrow().subscribe(new Flow.Subscriber<ByteBuffer>() {
      @Override public void onSubscribe(Flow.Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
      }

      @Override public void onNext(ByteBuffer part) {
        while (part.hasRemaining()) {
          body.write(part.get());
        }
      }

      @Override public void onError(Throwable error) {
        throw new IllegalStateException(error);
      }

      @Override public void onComplete() {}
    });
    return body.toByteArray();
  }
}
